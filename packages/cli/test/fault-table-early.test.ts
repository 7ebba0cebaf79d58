import { testRows } from './fault-rows.ts';

testRows(1, 29);
