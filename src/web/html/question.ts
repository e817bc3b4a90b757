import { html } from 'hono/html'
import type { Context } from '../context.ts'
import { type Page, showPage } from './page.ts'
import type { Html } from './text.ts'

interface Question extends Pick<Page, 'title' | 'status'> {
  /** The question in bold, and below it what the act does. */
  asks: Html
  consequences?: readonly (Html | string | false)[]
  /** Lists and fields below. */
  more?: Html
  button: string | Html
  /** True if the act takes nothing away. */
  isHarmless?: boolean
  /** The page to return to. */
  back: string
  /** Where the form goes, and the value of its field `confirmed`. By default its page, and none. */
  sent?: { to: string; confirmed: string }
}

/** Asks before an act. */
export function showQuestion(
  c: Context,
  { title, status = 200, asks, consequences = [], more, button, isHarmless, back, sent }: Question,
): Promise<Response> {
  return showPage(c, {
    title,
    status,
    width: 'form',
    body: html`<form class="card" method="post" action="${sent?.to ?? c.req.path}">
<p><strong>${asks}</strong></p>
${consequences.filter((one) => one !== false).map((one) => html`<p>${one}</p>`)}
${more ?? ''}
<div class="row"><button class="${isHarmless ? 'primary' : 'danger'}"${sent && html` name="confirmed" value="${sent.confirmed}"`}>${button}</button>
<a class="button" href="${back}">Cancel</a></div>
</form>`,
  })
}
