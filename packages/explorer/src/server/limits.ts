/** What one client, or all together, may ask of the server. */
export interface Limits {
  /** Bytes of a request's body. */
  body: number;
  /** Milliseconds in which headers must have come. */
  headers: number;
  /** Milliseconds in which a whole request must have come. */
  request: number;
  /** Milliseconds without any byte after which a connection is ended. */
  idle: number;
  /** Connections at once; where a token is asked for, as many again that have not shown it. */
  connections: number;
  /** Tasks that may wait for a model, and requests that may wait for models to be closed. */
  queue: number;
  /** Models that are open at once, each in a process of its own. */
  open: number;
  /** Milliseconds that a request waits for another run's model to be done: less than a connection may idle. */
  wait: number;
  /** Milliseconds without any sign of life after which a model's process is ended. */
  silence: number;
}

export const LIMITS: Limits = {
  body: 1_000_000,
  headers: 10_000,
  request: 20_000,
  idle: 60_000,
  connections: 128,
  queue: 64,
  open: 3,
  wait: 45_000,
  silence: 300_000,
};
