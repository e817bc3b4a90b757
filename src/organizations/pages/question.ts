import { html } from 'hono/html'
import type { Context } from '../../web/context.ts'
import { showPage } from '../../web/html/page.ts'
import type { Html } from '../../web/html/text.ts'

interface Question {
  title: string
  /** The question in bold, and below it what the act does. */
  asks: Html
  consequences: readonly (Html | string | false)[]
  button: string
  /** The page to return to. */
  back: string
}

/** Asks before an act that no button takes back. The form is sent to the path of its page. */
export function showQuestion(
  c: Context,
  { title, asks, consequences, button, back }: Question,
): Promise<Response> {
  return showPage(c, {
    title,
    width: 'form',
    body: html`<form class="card" method="post" action="${c.req.path}">
<p><strong>${asks}</strong></p>
${consequences.filter((one) => one !== false).map((one) => html`<p>${one}</p>`)}
<div class="row"><button class="danger">${button}</button>
<a class="button" href="${back}">Cancel</a></div>
</form>`,
  })
}
