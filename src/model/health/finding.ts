import { formatInstant, HOUR_US, type Instant } from '../instant.ts'

/**
 * What was found about one subject. `doctor` prints all findings, and `serve` logs those of its
 * start that are not ok. `/readyz` and the metrics show those that decide readiness.
 */
export interface Finding {
  check: string
  /** A problem keeps the service from doing what it promises. A warning is a risk. */
  state: 'ok' | 'warning' | 'problem'
  found: string
  /** What to do. Null if all is well. */
  advice: string | null
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, advice: null }
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, state: 'warning', found, advice }
}

export function problem(check: string, found: string, advice: string): Finding {
  return { check, state: 'problem', found, advice }
}

/** A finding in the log, or beside what a command prints. */
export function sentenceOf({ found, advice }: Finding): string {
  return advice === null ? found : `${found}: ${advice}`
}

/** `fault` is what keeps this program from working with the schema. Null if nothing does. */
export function judgeSchema(fault: Error | null): Finding {
  if (fault === null) return ok('schema', 'the schema is that of this program')
  const advice =
    '`server-listing migrate` updates an older schema; for any other, check DATABASE_URL'
  return problem('schema', fault.message, advice)
}

/** `silent` has what does not fire. */
export function judgeTriggers(silent: readonly string[], advice: string): Finding {
  if (silent.length === 0) return ok('triggers', 'all triggers of the schema fire')
  const found = `these triggers are gone, changed or disabled: ${silent.join(', ')}. So a revoked key or a disabled user may keep access`
  return problem('triggers', found, advice)
}

/** A day, and two hours for a job that takes longer than the last time. */
const BACKUP_AGE_MAX_US = 26 * HOUR_US

export function judgeLastBackup(madeAt: Instant | null, now: Instant): Finding {
  const advice =
    'run `server-listing backup` every day, for example with the timer in deploy/systemd. If ' +
    'another program makes your backups, check those'
  if (madeAt === null) return warning('backup', '`backup` has made no backup', advice)
  const found = `\`backup\` made the last backup at ${formatInstant(madeAt).slice(0, 19)}Z`
  if (now - madeAt <= BACKUP_AGE_MAX_US) return ok('backup', found)
  return warning('backup', `${found}, more than 26 hours ago`, advice)
}
