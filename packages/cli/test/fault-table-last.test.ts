import { testRows } from './fault-rows.ts';

testRows(43, 54);
