import { html } from 'hono/html'
import { count } from '../../model/text.ts'
import { type IconName, icon } from './icon.ts'
import type { Html } from './text.ts'

/*
 * Small pieces that many pages share.
 */

/** A link that looks like a button. A page has at most one main action. */
export interface Action {
  href: string
  label: string | Html
  icon?: IconName
  isMain?: boolean
}

export function showAction({ href, label, icon: symbol, isMain = false }: Action): Html {
  return html`<a class="button${isMain ? ' primary' : ''}" href="${href}">${symbol === undefined ? '' : icon(symbol)}${label}</a>`
}

/** A state in a word. A good one has a filled dot, so that color alone does not tell. */
export function pill(text: string | Html, tone?: 'good' | 'warn'): Html {
  return tone === undefined
    ? html`<span class=pill>${text}</span>`
    : html`<span class="pill ${tone}">${text}</span>`
}

export interface EmptyState {
  icon: IconName
  title: string | Html
  text?: string | Html
  action?: Action
}

/** What stands in the place of a list without entries. */
export function showEmpty({ icon: symbol, title, text, action }: EmptyState): Html {
  return html`<div class="empty">${icon(symbol)}<h2>${title}</h2>
${text === undefined ? '' : html`<p>${text}</p>`}
${action === undefined ? '' : showAction(action)}</div>`
}

export interface Segment {
  href: string
  label: string | Html
  isCurrent: boolean
}

/** Links of which one is current, such as a filter of a list. */
export function showFilter(label: string, segments: readonly Segment[]): Html {
  return html`<nav class="filter" aria-label="${label}">${segments.map(({ href, label: text, isCurrent }) => html`<a class="button quiet" href="${href}"${isCurrent ? html` aria-current="true"` : ''}>${text}</a>`)}</nav>`
}

export interface Step {
  title: string
  text: string | Html
  isDone: boolean
  action?: Action
}

/** Numbered steps. A screen reader hears which ones are done. */
export function showSteps(steps: readonly Step[]): Html {
  return html`<ol class="rows steps">${steps.map(
    ({ title, text, isDone, action }) =>
      html`<li${isDone ? html` class="done"` : ''}><div><h2>${title}${isDone ? html`<span class="unseen">: done</span>` : ''}</h2><p>${text}</p></div>${action === undefined ? '' : showAction(action)}</li>`,
  )}</ol>`
}

/** A card with facts, each below its name. */
export function showFacts(title: string, facts: readonly [string, Html | string][]): Html {
  return html`<section class="card"><h2>${title}</h2>
<dl class="facts">${facts.map(([term, text]) => html`<div><dt class="hint">${term}</dt><dd>${text}</dd></div>`)}</dl></section>`
}

/**
 * A table with one row per entry. On a phone it is a list of cards, in which a number names its
 * column.
 */
export function showTable(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly (Html | number)[])[],
): Html {
  const showCell = (cell: Html | number, index: number) =>
    typeof cell === 'number'
      ? html`<td data-label="${columns[index]}">${count(cell)}</td>`
      : html`<td>${cell}</td>`
  return html`<div class="table" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(showCell)}</tr>`)}</tbody>
</table></div>`
}
