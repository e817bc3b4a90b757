import { type AuditAction, COMMAND_LINE } from '../listing/accounts/audit.ts'
import { presentInstant } from '../listing/instant.ts'
import { say } from './output.ts'
import type { Shell } from './shell.ts'
import type { Database } from '../management/database.ts'
import { audit as auditLog } from '../management/accounts/audit.ts'

/**
 * Adds an entry for an operator's action. If that fails, the action still stands, so the command
 * only warns.
 */
export async function audit(
  shell: Shell,
  database: Database,
  action: AuditAction,
  userId: string,
  subject: string,
): Promise<void> {
  const entry = { user_id: userId, action, subject, address: COMMAND_LINE }
  try {
    await auditLog(database).writeAudit({ ...entry, occurred_at: presentInstant() })
  } catch (error) {
    say(
      shell,
      `warning: the command succeeded, but its audit entry "${action}" could not be written: ` +
        (error as Error).message,
    )
  }
}
