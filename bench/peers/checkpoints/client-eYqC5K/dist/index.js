export { getCheckpointer, initializeCheckpointer } from "./checkpointer.js";
export { BelaySaver } from "./saver.js";
export { BelayError } from "./server.js";
