import { setThreads } from '@hidden-schema/torch';

// Tiny tensors gain nothing from threads, which on a busy machine only wait for each other.
setThreads(1);
