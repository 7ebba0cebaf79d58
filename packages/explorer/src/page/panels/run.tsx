import type { ComponentChildren } from 'preact';
import type { Client, Run } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { decimal } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import type { PanelProps } from './panel.ts';

/** What a figure is, for those that are known; others are shown under their own name. */
const meanings: Readonly<Record<string, string>> = {
  auc: 'ROC AUC of link probabilities',
  average_precision: 'average precision of links',
  hits: 'symbols read correctly, share',
  edges_truth: 'links of the true graph',
  edges_expected: 'links expected under q(A)',
  edges_sampled: 'links of sampled graphs',
  edges_walked: 'links used by walks of test sentences',
  frobenius_truth: '‖G* − q(A)‖',
  frobenius_random: '‖G rand − q(A)‖',
  frobenius_truth_sampled: '‖G* − G‖, G sampled',
  frobenius_random_sampled: '‖G rand − G‖, G sampled',
  nll: 'negative log-likelihood, nats a sentence',
  nll_authors: 'the same in the authors’ convention',
  kl_walk: 'KL of the walks',
  kl_walk_sentence: 'KL of a sentence’s walk, mean',
  kl_graph: 'KL of the graph',
  sentences: 'sentences evaluated',
  perplexity: 'perplexity, importance-weighted',
  perplexity_error: 'its standard error',
  perplexity_wide: 'perplexity by walks drawn less surely as well',
  perplexity_wide_error: 'its standard error',
  perplexity_paper: 'perplexity as Eq. 34 has it: the graph weighs in every sentence',
  perplexity_reconstruction: 'perplexity if walks came for free',
  mutual_information: 'I(z; x) by the paper’s estimator, nats',
  mutual_information_exact: 'I(z; x) of the sample, nats',
  mutual_information_bound: 'the most that so many sentences can have',
  reconstruction: '−E log p(x|z), nats a sentence',
  kl_walk_aggregated: 'KL of the aggregated walks',
  perplexity_bound: 'perplexity of the bound, which no draws improve',
  kl: 'KL of a sentence’s latent, mean',
  kl_aggregated: 'KL of the aggregated latents',
  active_units: 'dimensions whose means differ between sentences',
  symbols_used: 'symbols in use',
  texts: 'texts whose walks were read',
  npmi: 'coherence of symbols’ words (NPMI)',
  cv: 'coherence of symbols’ words (C_v)',
  embedding_coherence: 'coherence of symbols’ words by their vectors',
  diversity: 'different words among the first ten of all symbols',
  nmi: 'first symbols and labels: normalised mutual information',
  ami: 'the same, adjusted for chance',
  purity: 'texts whose label is the commonest of their first symbol',
  reader: 'labels that a linear reader of walks gets right',
  reader_weighed: 'the same with the weight of each step',
  walk_information: 'information of walks about texts, nats',
  walk_information_bound: 'the most that so many texts allow',
  told_apart: 'texts with a walk of their own',
  links: 'links of probability above one half',
  density: 'their share of all pairs',
  linked_moves: 'moves of walks along them',
  stability: 'agreement of first symbols with another seed (AMI)',
};

export function RunPanel({ client, run }: PanelProps) {
  return (
    <>
      <h3>This run</h3>
      <Facts run={run} />
      <Evaluation client={client} run={run} />
      <details class="fold">
        <summary>Settings</summary>
        <Settings value={run.config} />
      </details>
      <details class="fold">
        <summary>Keys</summary>
        <Keys />
      </details>
      <p class="faint">
        The same data for programs: <a href="/api/openapi.json">the HTTP API</a>
      </p>
    </>
  );
}

const Row = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <tr>
    <th scope="row">{name}</th>
    <td>{children}</td>
  </tr>
);

const MOST_LABELS = 20;
const count = (n: number): string => n.toLocaleString('en');

function Facts({ run }: { run: Run }) {
  const { opened } = run;
  return (
    <table class="facts">
      <tbody>
        <Row name="state">
          {run.state === 'discovered' ? 'themes are found; it cannot write texts' : run.state}
          {run.seconds === null ? '' : ` (${count(Math.round(run.seconds))} s of work)`}
        </Row>
        {run.state === 'discovered' ? null : (
          <Row name="step">
            {run.lastStep ?? 0} of {run.steps}
            {opened ? `; shown: checkpoint of step ${opened.step}` : ''}
          </Row>
        )}
        <Row name="made">
          {new Date(run.created).toLocaleString()}, version {run.version}
        </Row>
        {opened ? <CorpusFacts {...opened} /> : null}
      </tbody>
    </table>
  );
}

function CorpusFacts({ corpus, symbols, walk, labels, notes }: NonNullable<Run['opened']>) {
  const { train, valid, test } = corpus.sentences;
  return (
    <>
      <Row name="corpus">{corpus.directory}</Row>
      <Row name="texts">
        {count(train)} train, {count(valid)} valid, {count(test)} test
      </Row>
      <Row name="tokens">
        {count(corpus.vocabulary)} different
        {corpus.length === null ? '' : `, ${corpus.length} in a sentence`}
      </Row>
      <Row name="themes">
        {symbols}; a text goes through at most {walk}
      </Row>
      {labels.length > 0 ? (
        <Row name="labels">
          {labels.slice(0, MOST_LABELS).join(', ')}
          {labels.length > MOST_LABELS ? ` and ${labels.length - MOST_LABELS} more` : ''}
        </Row>
      ) : null}
      {notes.map((note) => (
        <Row key={note} name="note">
          {note}
        </Row>
      ))}
    </>
  );
}

const meaningOf = (name: string) => (Object.hasOwn(meanings, name) ? meanings[name] : undefined);

function Evaluation({ client, run }: { client: Client; run: Run }) {
  const loaded = useLoaded(`${run.state} ${run.created}`, (signal) => client.evaluation(signal));
  // Before training ends there is none, which is no fault.
  if (loaded.state === 'failed')
    return (
      <>
        <h3>Evaluation</h3>
        <p class="faint">{loaded.message}</p>
      </>
    );
  if (loaded.state === 'loading') return null;
  const rank = (name: string) => {
    const at = Object.keys(meanings).indexOf(name);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  };
  const figures = Object.entries(loaded.value).sort(([a], [b]) => rank(a) - rank(b));
  const rows = figures.map(([name, value]) => [name, value, meaningOf(name) ?? '']);
  return (
    <>
      <TableHead name="evaluation" rows={() => [['figure', 'value', 'meaning'], ...rows]}>
        Evaluation
      </TableHead>
      <table class="evaluation">
        <tbody>
          {figures.map(([name, value]) => (
            <tr key={name} data-figure={name}>
              <th scope="row" title={name}>
                {meaningOf(name) ?? name}
              </th>
              <td class="number">{value === null ? '–' : decimal(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Settings as nested lists, folded by section. */
function Settings({ value }: { value: Record<string, unknown> }) {
  const entries = Object.entries(value);
  const isGroup = (inner: unknown) => typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return (
    <div class="settings">
      {entries.map(([name, inner]) =>
        isGroup(inner) ? (
          <details key={name}>
            <summary>{name}</summary>
            <Settings value={inner as Record<string, unknown>} />
          </details>
        ) : (
          <div key={name} class="setting">
            {name} <span class="number">{Array.isArray(inner) ? inner.join(', ') : String(inner)}</span>
          </div>
        ),
      )}
    </div>
  );
}

const Keys = () => (
  <table class="facts">
    <tbody>
      <Row name="/">find a symbol</Row>
      <Row name="Esc">clear the selection</Row>
      <Row name="n  p">next and previous symbol (in the graph)</Row>
      <Row name="Enter">take that symbol; in Compose it is the next step (in the graph)</Row>
      <Row name="+  −  0">zoom, show all (in the graph)</Row>
      <Row name="arrows">move the graph; change the tab</Row>
    </tbody>
  </table>
);
