import type { Document, Refused } from '../document.ts'
import { putKeys, revokeKeys } from './planned-keys.ts'
import {
  putMembers,
  putOrganizations,
  removeMembers,
  removeOrganizations,
} from './planned-organizations.ts'
import { putServers, removeServers } from './planned-servers.ts'
import { putUsers, removeUsers } from './planned-users.ts'
import { createPlanning, type Planning, type PlanOptions } from './planning.ts'
import type { Stored } from './stored.ts'

/** What a document does to the rows that it means. Works in the order of ACTS. */
export function planDocument(document: Document, stored: Stored, options: PlanOptions): Planning {
  const planning = createPlanning(document, stored, options)
  putUsers(planning)
  putOrganizations(planning)
  putMembers(planning)
  putServers(planning)
  putKeys(planning)
  revokeKeys(planning)
  removeServers(planning)
  removeMembers(planning)
  removeOrganizations(planning)
  removeUsers(planning)
  for (const { refused } of Object.values(planning.answer))
    refused.sort((one: Refused, other: Refused) => one.row - other.row)
  return planning
}
