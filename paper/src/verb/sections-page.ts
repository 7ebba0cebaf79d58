import {
  factList,
  pageOf,
  type ReportParts,
  type ReportSection,
  shownPart,
} from '@hidden-schema/studies/analyses/page';
import { escapeXml } from '@hidden-schema/studies/drawing/svg';

/** Tables and figures one after the other, under facts about them. */
export function sectionsPage(
  title: string,
  facts: ReportParts['facts'],
  sections: readonly ReportSection[],
): string {
  const shown = sections.map(({ title: name, parts }, at) => {
    const inner = parts.map((part) => shownPart(part, name)).join('\n');
    return `<section id="s${at}"><h2>${escapeXml(name)}</h2>${inner}</section>`;
  });
  const header = `<header><h1>${escapeXml(title)}</h1>${factList(facts)}</header>`;
  return pageOf({ title, body: [header, '<main>', ...shown, '</main>'].join('\n') });
}
