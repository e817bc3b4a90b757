import { type AuditAction, COMMAND_LINE } from '../../listing/accounts/audit.ts'
import type { Instant } from '../../listing/instant.ts'
import { insertEntry } from '../accounts/audit.ts'
import { insertionOf } from '../accounts/users.ts'
import type { Transaction } from '../database.ts'
import { insertionOfMember, insertionOfOrganization } from '../organizations.ts'
import { sql, uuid } from '../sql.ts'
import type { OrganizationPlan } from './planned-organization.ts'

/** False if the organization would have no owner afterwards. */
export async function writeOrganization(
  transaction: Transaction,
  { organization, isNew, isRenamed, addedUsers, added, changed, removed }: OrganizationPlan,
  now: Instant,
): Promise<boolean> {
  const { id, slug, name } = organization
  const note = (action: AuditAction, user_id: string, subject = id) =>
    insertEntry(transaction, { action, user_id, subject, address: COMMAND_LINE, occurred_at: now })
  for (const user of addedUsers) {
    await transaction.run(insertionOf(user))
    await note('user added', user.id, user.email)
  }
  if (isNew) await transaction.run(insertionOfOrganization({ id, slug, name }))
  if (isRenamed)
    await transaction.run(sql`UPDATE organizations SET name = ${name} WHERE id = ${uuid(id)}`)
  for (const { user_id, role, joined_at } of added) {
    await transaction.run(insertionOfMember(id, user_id, role, joined_at))
    await note('member added', user_id)
  }
  for (const { user_id, role } of changed) {
    await transaction.run(sql`
      UPDATE members SET role = ${role}
      WHERE organization_id = ${uuid(id)} AND user_id = ${uuid(user_id)}`)
    await note('member role changed', user_id)
  }
  for (const { user_id } of removed) {
    await transaction.run(sql`
      DELETE FROM members WHERE organization_id = ${uuid(id)} AND user_id = ${uuid(user_id)}`)
    await note('member removed', user_id, user_id)
  }
  const owner = await transaction.get<{ user_id: string }>(sql`
    SELECT user_id FROM members WHERE organization_id = ${uuid(id)} AND role = 'owner'
    ORDER BY joined_at, user_id LIMIT 1`)
  if (owner === null) return false
  if (isNew) await note('organization made', owner.user_id)
  if (isRenamed) await note('organization renamed', owner.user_id)
  return true
}
