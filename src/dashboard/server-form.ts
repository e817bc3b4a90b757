import { html } from 'hono/html'
import type { Membership } from '../listing/organization.ts'
import type { ServerFields } from '../listing/registered-server.ts'
import { complaintsAboutFields } from '../listing/server-entry.ts'
import { showChoice, showField, showFormTag } from './form-field.ts'
import { type Html, showPage, visible } from './page.ts'
import { fieldOf, type Visit } from './visit.ts'

export const KEPT_FIELDS = [
  'name',
  'address',
  'slug',
  'edition',
  'status',
  'version',
  'listing_kind',
  'organization_id',
] as const

type Values = Partial<Record<string, string>>

/** What was typed, as it will be stored; or what is wrong with each field, as sentences. */
export function readFields(visit: Visit): {
  fields: ServerFields | null
  values: Values
  complaints: Record<string, string>
} {
  const values = Object.fromEntries(
    KEPT_FIELDS.map((name) => [name, fieldOf(visit, name).trim()]),
  ) as Record<(typeof KEPT_FIELDS)[number], string>
  const { name, address, edition, status } = values
  const slug = values.slug || null
  const version = values.version || null
  const listing_kind = values.listing_kind || null
  const entry = { name, address, slug, edition, status, version, listing_kind }
  const complaints = Object.fromEntries(
    Object.entries(complaintsAboutFields(entry)).map(([field, complaint]) => [
      field,
      `This ${complaint}.`,
    ]),
  )
  if (Object.keys(complaints).length > 0) return { fields: null, values, complaints }
  return {
    fields: { ...entry, organization_id: values.organization_id || null },
    values,
    complaints,
  }
}

export interface ServerForm {
  /** Null for a server that is still to be registered. */
  id: string | null
  values: Values
  errors?: Record<string, string>
  organizations: readonly Membership[]
  message?: Html
  /** Of a new server that was not registered: whether its form has done its work, so that another one is needed. */
  isSpent?: boolean
}

export function showServerForm(visit: Visit, form: ServerForm): Promise<Response> {
  const { id, values, errors = {}, organizations, message, isSpent = false } = form
  const isWrong = Object.keys(errors).length > 0
  const statuses = [...new Set(['published', 'draft', values.status ?? 'published'])]
  const places = new Map([['', 'Personal: the API returns it']])
  for (const { id: place, name } of organizations)
    places.set(place, `${visible(name)}: the API never returns it`)
  const place = values.organization_id ?? ''
  if (!places.has(place)) places.set(place, 'An organization you are no member of')
  return showPage(visit, {
    title: id === null ? 'Register a server' : 'Edit a server',
    status: message === undefined ? (isWrong ? 422 : 200) : 409,
    body: html`${message ?? ''}<form class="card" method="post" action="/dashboard/servers/${id ?? 'new'}">
${id === null ? showFormTag(isSpent ? undefined : fieldOfForm(visit)) : ''}
${showField({
  name: 'name',
  label: 'Name',
  value: values.name ?? '',
  required: true,
  lengthMax: 200,
  error: errors.name,
})}
${showField({
  name: 'address',
  label: 'Address',
  value: values.address ?? '',
  required: true,
  hint: 'A domain or an IP address; with :port where it is not the usual one.',
  error: errors.address,
})}
${showField({
  name: 'slug',
  label: 'Slug',
  value: values.slug ?? '',
  hint:
    id === null
      ? 'For links to it, one of its own among your servers. Left empty, it is made from the name.'
      : 'For links to it, one of its own among your servers. May be empty.',
  error: errors.slug,
  ...(id === null ? { suggestedFrom: 'name' } : {}),
})}
<div class="columns">
${showField({
  name: 'edition',
  label: 'Edition',
  value: values.edition ?? '',
  required: true,
  suggestions: ['java', 'bedrock'],
  error: errors.edition,
})}
${showField({
  name: 'version',
  label: 'Version',
  value: values.version ?? '',
  hint: 'Empty if not known.',
  error: errors.version,
})}
${showField({
  name: 'listing_kind',
  label: 'Kind',
  value: values.listing_kind ?? '',
  suggestions: ['server', 'realm'],
  hint: 'Empty if not known.',
  error: errors.listing_kind,
})}
${showChoice({
  name: 'status',
  label: 'Status',
  value: values.status ?? 'published',
  options: statuses.map((status) => [status, status] as const),
  hint: 'The API returns drafts, too.',
  error: errors.status,
})}
</div>
${showChoice({
  name: 'organization_id',
  label: 'Where it belongs',
  value: place,
  options: [...places],
  error: errors.organization_id,
})}
<div class="row"><button>${id === null ? 'Register' : 'Save'}</button><a href="/dashboard/servers">Cancel</a>${id === null ? '' : html`<a class="danger end" href="/dashboard/servers/${id}/delete">Delete…</a>`}</div>
</form>`,
  })
}

/** A form that was wrong keeps its tag, so that it is still the same form. */
function fieldOfForm(visit: Visit): string | undefined {
  return visit.req.method === 'POST' ? fieldOf(visit, 'form') : undefined
}
