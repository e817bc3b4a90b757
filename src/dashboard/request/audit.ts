import type { AuditAction } from '../../listing/accounts/audit.ts'
import { addressOf, type Context, type Dashboard } from '../context.ts'
import { bestEffort } from './best-effort.ts'
import { audit as auditLog } from '../../management/accounts/audit.ts'

/** Records a completed action. If that fails, the action stands and the service logs the fault. */
export function audit(
  dashboard: Dashboard,
  c: Context,
  action: AuditAction,
  userId: string | null,
  subject: string,
): Promise<void> {
  const entry = {
    user_id: userId,
    action,
    subject,
    address: addressOf(dashboard, c),
    occurred_at: dashboard.now(),
  }
  return bestEffort(dashboard, () => auditLog(dashboard.database).writeAudit(entry), undefined)
}
