// Of a verdict that is quoted on a decision's page: it says something of the distance as it is known now, and had no part in the odds.

export const LATER = "given after this decision";
