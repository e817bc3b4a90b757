import { html } from 'hono/html'
import type { Membership } from '../../../organizations/organization.ts'
import type { Context } from '../../../web/context.ts'
import { showChoice } from '../../../web/html/form-field.ts'
import { showPage } from '../../../web/html/page.ts'
import { showQuestion } from '../../../web/html/question.ts'
import { isolated, isolatedText } from '../../../web/html/text.ts'
import { type Asked, CHANGE_PATH, PERSONAL, showAsked } from './selected.ts'

/** Asks where servers should move, and says what that does to the API's answer. */
export function showMove(
  c: Context,
  asked: Asked,
  joined: readonly Membership[],
): Promise<Response> {
  const { servers, from } = asked
  const [first] = servers
  const isOne = servers.length === 1
  const [them, label] = isOne ? ['it', 'Move server'] : ['them', `Move ${servers.length} servers`]
  const title = isOne ? 'Move a server' : label
  const places = [
    ...joined.map(({ id, name }) => [id, `${isolatedText(name)}: the API never returns ${them}`]),
    [PERSONAL, `You: the API returns ${them}`],
  ] as [string, string][]
  const open = places.filter(([place]) =>
    servers.some(({ organization_id }) => (organization_id ?? PERSONAL) !== place),
  )
  if (open.length === 0)
    return showPage(c, {
      title,
      width: 'form',
      body: html`<p>You are not a member of an organization. <a href="/dashboard/organizations">Create one</a> to move servers there.</p>`,
    })
  return showQuestion(c, {
    title,
    asks: isOne
      ? html`Move ${isolated(first!.name)} (<code>${isolated(first!.address)}</code>)?`
      : html`Move these servers?`,
    consequences: ['You can undo this for one hour.'],
    more: html`${showChoice({ name: 'move', label: 'Owner', value: open[0]![0], options: open })}
${showAsked(asked)}`,
    button: label,
    isHarmless: true,
    back: from,
    sent: { to: CHANGE_PATH, confirmed: 'moved' },
  })
}
