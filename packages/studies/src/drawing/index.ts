// What needs neither a file nor a model: pages draw with it too.
export * from './bar-figure.ts';
export * from './curves.ts';
export * from './heat-figure.ts';
export * from './scales.ts';
export * from './svg.ts';
export * from './time-figure.ts';
