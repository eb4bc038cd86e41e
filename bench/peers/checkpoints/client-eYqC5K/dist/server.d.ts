/** How to reach the server. */
export interface BelayServerOptions {
    /** Default: $BELAY_SERVER, else http://127.0.0.1:8123. */
    url?: string;
    /** Default: $BELAY_API_KEY; without one, no key is sent. */
    apiKey?: string;
    /** The owner of the checkpoints; default: the user of the key. */
    userId?: string;
    /** Time after which a request is no longer repeated, in milliseconds. Default: 30,000. */
    retryTime?: number;
    /** Time limit of one attempt, in milliseconds. Default: 30,000. */
    timeout?: number;
}
/** An answer of the server that is not a success. */
export declare class BelayError extends Error {
    /** HTTP status; 0: the server did not answer. */
    readonly status: number;
    readonly name = "BelayError";
    constructor(
    /** HTTP status; 0: the server did not answer. */
    status: number, message: string);
}
export declare class BelayServer {
    readonly url: string;
    private readonly query;
    private readonly headers;
    private readonly retryTime;
    private readonly timeout;
    constructor(options?: BelayServerOptions);
    /** Sends a request to /api/langgraph/PATH; returns the document of the answer. */
    send<T>(path: string, body: object): Promise<T>;
    private attempt;
    private post;
}
