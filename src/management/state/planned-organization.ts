import type { Organization } from '../../listing/organization.ts'
import type { DeclaredOrganization, StateComplaint } from '../../listing/state/declared-state.ts'
import type { RecordPlan } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import type { Stored } from './stored-state.ts'

/** What is written for an organization itself. Its members are written with the users. */
export type PlannedOrganization = ReturnType<typeof planOrganization>

export function planOrganization(record: DeclaredOrganization, stored: Stored) {
  const { slug, name } = record
  const known = stored.organizationsBySlug.get(slug)
  const renamed = known && known.name !== name ? `name ${quote(known.name)} → ${quote(name)}` : ''
  const text = known === undefined ? quote(name) : renamed
  const action = known === undefined ? 'add' : 'change'
  const plan: RecordPlan = {
    record,
    userId: null,
    of: slug,
    changes: text === '' ? [] : [{ action, kind: 'organization', of: slug, text }],
    keptRevoked: [],
    complaints: complaintsAbout(record, known, stored),
    owns: [],
    needs: known === undefined ? [slug] : [],
  }
  const organization = { id: known?.id ?? record.id ?? crypto.randomUUID(), slug, name }
  return { ...plan, organization, isNew: known === undefined }
}

function complaintsAbout(
  { place, id, slug, members }: DeclaredOrganization,
  known: Organization | undefined,
  stored: Stored,
): StateComplaint[] {
  if (known === undefined && members === undefined)
    return [{ place: `${place}.members`, message: 'is missing; a new organization needs an owner' }]
  if (id === undefined || id === known?.id) return []
  if (known !== undefined)
    return [
      { place: `${place}.id`, message: `must be the id of ${slug}, ${known.id}, or be left out` },
    ]
  const other = stored.organizationsById.get(id)
  return other === undefined
    ? []
    : [{ place: `${place}.id`, message: `is the id of the organization ${other.slug}` }]
}
