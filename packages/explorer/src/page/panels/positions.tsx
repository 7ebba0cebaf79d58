import { TableHead } from '../figure.tsx';
import { Bar } from '../parts.tsx';
import { csvOf, DataTable } from '../tables.tsx';

/** How often walks are on a symbol at each of their steps. */
export function Positions({ values }: { values: readonly number[] }) {
  const steps = values.map((share, at) => ({ step: at + 1, share }));
  return (
    <>
      <TableHead name="positions" rows={csvOf(steps, { step: 'step', 'share of sentences': 'share' })}>
        Usage by position in the walk
      </TableHead>
      <DataTable
        class="positions"
        of={steps}
        columns={[
          { head: 'Step', class: 'number', cell: ({ step }) => step },
          {
            head: 'Share of texts',
            cell: ({ share }) => <Bar of={share} most={Math.max(...values, 1e-9)} />,
          },
        ]}
      />
    </>
  );
}
