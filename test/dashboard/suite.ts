import { suite } from 'node:test'
import type { OpenDatabase } from '../fixtures/dashboard.ts'
import { abusiveVisits } from './abuse.ts'
import { accountPages } from './accounts.ts'
import { attemptPages } from './attempts.ts'
import { auditLog } from './audit.ts'
import { formPages } from './forms.ts'
import { invitationPages } from './invitations.ts'
import { keyPages } from './keys.ts'
import { leftServers } from './left-servers.ts'
import { organizationPages } from './organizations.ts'
import { registeringPages } from './register.ts'
import { rightsOfPages } from './rights.ts'
import { serverPages } from './servers.ts'
import { usePages } from './uses.ts'

/** What the dashboard promises, as a browser without script meets it, on one engine. */
export function dashboardSuite(engine: string, open: OpenDatabase): void {
  suite(`${engine}: abuse`, () => abusiveVisits(open))
  suite(`${engine}: accounts`, () => accountPages(open))
  suite(`${engine}: wrong passwords`, () => attemptPages(open))
  suite(`${engine}: keys`, () => keyPages(open))
  suite(`${engine}: servers`, () => serverPages(open))
  suite(`${engine}: registering`, () => registeringPages(open))
  suite(`${engine}: organizations`, () => organizationPages(open))
  suite(`${engine}: invitations`, () => invitationPages(open))
  suite(`${engine}: who leaves an organization`, () => leftServers(open))
  suite(`${engine}: audit log`, () => auditLog(open))
  suite(`${engine}: use pictures`, () => usePages(open))
  suite(`${engine}: forms`, () => formPages(open))
  suite(`${engine}: who may do what`, () => rightsOfPages(open))
}
