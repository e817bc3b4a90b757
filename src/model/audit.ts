import { DAY_US, type Instant } from './instant.ts'

/** How long the audit log keeps an entry, and how many older entries each new one removes. */
export const AUDIT_KEPT_US = 400 * DAY_US
export const AUDIT_DROPPED = 10

/** One recorded action: what, who and from where. It never has a secret. */
export interface AuditEntry {
  user_id: string | null
  action: AuditAction
  /** The object of the action: an id, or the name of a user. */
  subject: string
  address: string
  occurred_at: Instant
}

/**
 * The period in which the account page counts refused sign-ins, and the highest number it counts.
 */
export const REFUSED_SHOWN_US = DAY_US
export const REFUSED_COUNTED_MAX = 1_000

/** Refused sign-ins from one address, and the instant of the latest one. */
export interface RefusedSignIns {
  address: string
  count: number
  occurred_at: Instant
}

/** Stands where an entry of the dashboard has the client's address. */
const COMMAND_LINE = 'command line'

/** Who acts: where an act comes from, and when. Each act writes its entry with both. */
export interface Actor {
  address: string
  at: Instant
  /**
   * An operator who acts on another account at the dashboard. The entry of that account then shows
   * no client address, and the operator's own account gets an entry with it.
   */
  operatorId?: string
}

/** Stands where an entry of an account has the address, if an operator acted at the dashboard. */
export const OPERATORS_PAGE = 'operator page'

/** An operator at the command line. */
export const operatorAt = (at: Instant): Actor => ({ address: COMMAND_LINE, at })

/** What the entry of an operator's own account says about an act on another one. */
export const DONE_BY_OPERATOR: Partial<Record<AuditAction, AuditAction>> = {
  'sign-in link issued': 'operator issued link',
  'user disabled': 'operator disabled user',
  'user enabled': 'operator enabled user',
  'sessions ended': 'operator ended sessions',
}

/** The log stores these names, so never rename one. */
export type AuditAction =
  | 'sign-up'
  | 'user added'
  | 'user removed'
  | 'user disabled'
  | 'user enabled'
  | 'user banned'
  | 'user unbanned'
  | 'sign-in'
  | 'sign-in refused'
  | 'sign-in connected'
  | 'sign-in removed'
  | 'confirmed'
  | 'confirmed without auth_time'
  | 'sign-out'
  | 'sign-out everywhere'
  | 'session ended'
  | 'sessions ended'
  | 'sign-in link issued'
  | 'sign-in link used'
  | 'signed in by link'
  | 'operator issued link'
  | 'operator disabled user'
  | 'operator enabled user'
  | 'operator ended sessions'
  | 'password changed'
  | 'e-mail changed'
  | 'external id changed'
  | 'organization made'
  | 'organization deleted'
  | 'member removed'
  | 'server registered'
  | 'server changed'
  | 'servers published'
  | 'servers unpublished'
  | 'servers removed'
  | 'servers moved'
  | 'servers restored'
  | 'servers imported'
  | 'key issued'
  | 'key revoked'
  | 'key imported'
  | 'key renamed'
  | 'member added'
  | 'member added by owner'
  | 'member role changed'
  | 'organization renamed'
  | 'state applied'
  | 'keys imported'
  | 'database backed up'
  | 'database restored'
  | 'revocations added'
  | 'identity refused'
  | 'site refused'
  | 'identities moved'
