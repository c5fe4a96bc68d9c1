// The page for unknown addresses.

import { masthead } from "./masthead.js";

masthead();
