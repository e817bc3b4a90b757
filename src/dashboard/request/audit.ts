import type { AuditAction, AuditStore } from '../../listing/accounts/audit.ts'
import { addressOf, type Context, type Dashboard } from '../context.ts'
import { bestEffort } from './best-effort.ts'

/** Records a completed action. If that fails, the action stands and the service logs the fault. */
export function audit(
  dashboard: Dashboard<AuditStore>,
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
  return bestEffort(dashboard, () => dashboard.store.writeAudit(entry), undefined)
}
