import { html } from 'hono/html'
import { escapeInvisible } from '../../model/characters/invisible.ts'
import type { Membership } from '../../organizations/organization.ts'
import { trimAddress } from '../address.ts'
import { SERVER_FIELDS, type ServerFields } from '../server.ts'
import { complaintsAboutCase, inspectEntry, readValue, suggestSlug } from '../server-entry.ts'
import { type Context, fieldOf } from '../../web/context.ts'
import { showChoice, showField, showFormTag, submittedTag } from '../../web/html/form-field.ts'
import { type Notice, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { type Html, isolatedText } from '../../web/html/text.ts'
import {
  type DetailName,
  DETAILS,
  INITIAL,
  inWords,
  ruleOf,
  SERVER_NAME_LENGTH_MAX,
} from '../fields.ts'

type Values = Partial<Record<string, string>>

/**
 * Reads the form: the fields to store, or a sentence for each wrong field. `before` is the server
 * that the form changes, or has what a new one begins with.
 */
export function readFields(
  c: Context,
  before: typeof INITIAL & Partial<Pick<ServerFields, 'address'>>,
): {
  fields: ServerFields | null
  values: Values
  complaints: Record<string, string>
  /** True if the typed address was longer, such as a link. */
  isShortened: boolean
} {
  const values = Object.fromEntries(
    SERVER_FIELDS.map((name) => [name, fieldOf(c, name)]),
  ) as Record<(typeof SERVER_FIELDS)[number], string>
  const typed = readValue(values.address) ?? ''
  const address = trimAddress(typed, typed === before.address)
  const isShortened = address !== typed
  const inspected = inspectEntry({ ...values, address })
  const complaints = Object.fromEntries(
    Object.entries(
      'wrong' in inspected ? inspected.complaints : complaintsAboutCase(inspected.entry, before),
    ).map(([field, complaint]) => [field, `The ${inWords(field)} ${complaint}.`]),
  )
  if ('wrong' in inspected || Object.keys(complaints).length > 0)
    return { fields: null, values, complaints, isShortened }
  const organization_id = values.organization_id || null
  const fields = { ...withoutTexts(before), ...inspected.entry, organization_id }
  return { fields, values, complaints, isShortened }
}

/** What a form without texts leaves: a field that may be empty is, and another keeps its value. */
function withoutTexts(before: typeof INITIAL): typeof INITIAL {
  const left = DETAILS.map((name) => [name, INITIAL[name] === null ? null : before[name]])
  return { ...INITIAL, ...Object.fromEntries(left) }
}

export interface ServerForm {
  /** Null for a new server. */
  id: string | null
  values: Values
  errors?: Record<string, string>
  organizations: readonly Membership[]
  /** The fingerprint of the fields that the page has shown. */
  seen?: string
  /** The place in a list from which the user opened the form. */
  from: string | null
  /** The address of the server's public page, if it has one. */
  publicUrl?: string | null
  /** True if published servers have public pages. */
  hasPublicPages: boolean
  notice?: Notice
  /** True if the form already registered a server, so that the page needs a form with a new tag. */
  isSpent?: boolean
}

export function showServerForm(c: Context, form: ServerForm): Promise<Response> {
  const { id, errors = {}, notice, isSpent = false, from, seen, publicUrl = null } = form
  const list = from ?? '/dashboard/servers'
  const isWrong = Object.keys(errors).length > 0
  return showPage(c, {
    title: id === null ? 'Register a server' : 'Edit a server',
    ...(publicUrl === null
      ? {}
      : { actions: showAction({ href: publicUrl, label: 'Public page' }) }),
    width: 'form',
    errors,
    status: notice === undefined ? (isWrong ? 422 : 200) : 409,
    notice,
    body: html`<form class="card" method="post" action="/dashboard/servers/${id ?? 'new'}">
${showFormTag(isSpent ? undefined : submittedTag(c))}${from === null ? '' : html`<input type="hidden" name="from" value="${from}">`}${seen === undefined ? '' : html`<input type="hidden" name="seen" value="${seen}">`}
${showIdentity(form)}
<details${isOpen(form) ? html` open` : ''}><summary>More <span class="hint">edition, version, status …</span></summary><div class="stack">
${showSlug(form)}
${showDetails(form)}
${hasOwners(form) ? showOwner(form) : ''}
</div></details>
<div class="row"><button class="primary">${id === null ? 'Register' : 'Save'}</button><a class="button" href="${list}">Cancel</a>${id === null ? '' : html`<a class="button quiet end" href="${deletePath(id, from)}">Delete…</a>`}</div>
<p class="hint">${sayEffect(form)}</p>
</form>`,
  })
}

function deletePath(id: string, from: string | null): string {
  const path = `/dashboard/servers/${id}/delete`
  return from === null ? path : `${path}?from=${encodeURIComponent(from)}`
}

/** What the API and the public do with the server once it is saved. */
function sayEffect(form: ServerForm): string {
  const unless = hasOwners(form) ? ', unless an organization owns it' : ''
  const page = form.hasPublicPages ? ' If it is published, everyone can see its public page.' : ''
  return `The API returns the server to your keys at once, also as a draft${unless}.${page}`
}

/** Without an organization, there is only one owner to choose. */
function hasOwners({ values, organizations }: ServerForm): boolean {
  return organizations.length > 0 || (values.organization_id ?? '') !== ''
}

/** True if a field below “More” has an error or another value than it gets by itself. */
function isOpen({ values, errors = {}, notice }: ServerForm): boolean {
  if (notice !== undefined) return true
  const { name = '', slug = '', organization_id = '' } = values
  const isOwnSlug =
    slug !== '' && slug.replace(/-\d+$/, '') !== suggestSlug(name).replace(/-\d+$/, '')
  return (
    Object.keys(errors).some((field) => field !== 'name' && field !== 'address') ||
    isOwnSlug ||
    organization_id !== '' ||
    DETAILS.some((name) => (values[name] ?? '') !== (INITIAL[name] ?? ''))
  )
}

/** All that a new server needs. */
function showIdentity({ id, values, errors = {}, notice }: ServerForm): Html {
  const isNew = id === null && notice === undefined && Object.keys(errors).length === 0
  return html`${showField({
    name: 'name',
    label: 'Name',
    value: values.name ?? '',
    required: true,
    lengthMax: SERVER_NAME_LENGTH_MAX,
    hasFocus: isNew,
    error: errors.name,
  })}
${showField({
  name: 'address',
  label: 'Address',
  value: values.address ?? '',
  required: true,
  isCode: true,
  keys: 'url',
  hint: 'A domain or IP address, with :port unless it is the default.',
  error: errors.address,
})}`
}

function showSlug({ id, values, errors = {} }: ServerForm): Html {
  return showField({
    name: 'slug',
    label: 'Slug',
    value: values.slug ?? '',
    hint:
      id === null
        ? 'For links, and unique among your servers. If you leave it empty, we create it from the name.'
        : 'For links, and unique among your servers.',
    isOptional: true,
    isCode: true,
    error: errors.slug,
    ...(id === null ? { suggestedFrom: 'name' } : {}),
  })
}

function showDetails(form: ServerForm): Html {
  return html`<div class="columns">
${DETAILS.map((name) => showDetail(name, form))}</div>`
}

function showDetail(name: DetailName, { values, errors = {} }: ServerForm): Html {
  const { label, initial, known, suggested } = ruleOf(name)
  const field = { name, label, value: values[name] ?? '', error: errors[name] }
  if (known === undefined || suggested !== undefined)
    return html`${showField({
      ...field,
      ...(suggested === undefined ? {} : { suggestions: suggested }),
      isOptional: initial === null,
      isCode: true,
    })}
`
  const value = values[name] ?? initial ?? ''
  const options = [...new Set([...known, value])]
  return html`${showChoice({
    ...field,
    value,
    options: options.map((one) => [one, escapeInvisible(one)] as const),
  })}
`
}

function showOwner({ values, errors = {}, organizations }: ServerForm): Html {
  const owners = new Map([['', 'You: the API returns it']])
  for (const { id, name } of organizations)
    owners.set(id, `${isolatedText(name)}: the API never returns it`)
  const value = values.organization_id ?? ''
  if (!owners.has(value)) owners.set(value, 'An organization you are not a member of')
  return showChoice({
    name: 'organization_id',
    label: 'Owner',
    value,
    options: [...owners],
    error: errors.organization_id,
  })
}
