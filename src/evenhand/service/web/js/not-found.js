// A page that is not there still has a head, with the theme and the way home.

import { masthead } from "./masthead.js";

masthead();
