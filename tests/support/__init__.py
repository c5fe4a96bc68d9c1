"""What tests share: worlds, services, browsers."""
