import { testRows } from './fault-rows.ts';

testRows(30, 42);
