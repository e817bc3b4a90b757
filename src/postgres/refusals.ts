import { NotConfigured } from '../model/faults.ts'

/** A lasting failure as a sentence for the operator; null for any other error. */
export function unusable(error: unknown): NotConfigured | null {
  if (error instanceof NotConfigured) return error
  const reason = refusalOf(error)
  return reason === null
    ? null
    : new NotConfigured(`cannot use the database of DATABASE_URL: ${reason}`, { cause: error })
}

/**
 * A statement that a frozen database refuses, as a sentence for the operator; null for any other
 * error. The session reads on, and a later one can write.
 */
export function frozen(error: unknown): NotConfigured | null {
  return (error as Refused | null)?.code === '25006'
    ? new NotConfigured(`${FROZEN}. To write again, ${THAW}`, { cause: error })
    : null
}

export const FROZEN =
  'the database is read-only: default_transaction_read_only is on for it, for this user or for the server, perhaps before a move or because a disk is full'
export const THAW = 'run ALTER DATABASE … RESET default_transaction_read_only, or ask who set it'

/** A limit of the server ended a session at its start. The message is for the operator. */
class LimitedSession extends Error {
  override name = 'LimitedSession'
}

/** LimitedSession for an error of a limit, which may pass; any other error as it is. */
export function limited(error: unknown): unknown {
  const { code = '', message } = error as Refused
  const reason = {
    '53300': `${message}. End other sessions, or raise its CONNECTION LIMIT or max_connections`,
    '57014':
      'statement_timeout ended the first statement. Run ALTER ROLE … RESET statement_timeout, or ALTER DATABASE …: the service sets its own',
  }[code]
  return reason === undefined
    ? error
    : new LimitedSession(`cannot begin a session of DATABASE_URL: ${reason}`, { cause: error })
}

/**
 * A server that can't be reached, as a sentence for the operator of a command; null for any other
 * error. To a service, this passes by itself.
 */
export function unreachableServer(error: unknown): NotConfigured | null {
  const { code, address, port, hostname } = (error ?? {}) as {
    code?: string
    address?: string
    port?: number
    hostname?: string
  }
  const where = port === undefined ? `at ${address}` : `on port ${port} of ${address}`
  const isAway = `no server listens ${address === undefined ? 'there' : where}. Is PostgreSQL running?`
  const reason = {
    ECONNREFUSED: isAway,
    // A server that does not run has no Unix socket.
    ENOENT: isAway,
    ENOTFOUND: `the host name ${hostname} is unknown`,
    EAI_AGAIN: `the host name ${hostname} cannot be looked up now`,
    ETIMEDOUT: 'the server does not answer. Is the host right, and does a firewall let you in?',
    EHOSTUNREACH: 'there is no route to its host',
    ENETUNREACH: 'there is no route to its host',
  }[code ?? '']
  return reason === undefined
    ? null
    : new NotConfigured(`cannot reach the database of DATABASE_URL: ${reason}`, { cause: error })
}

/** Whether all other hosts would refuse for the same reason. Each host has its own TLS. */
export function isRefusedEverywhere(error: unknown): boolean {
  return unusable(error) !== null && tlsRefusalOf(error) === null
}

/** Routines that report a missing right. A disk that refuses a file has the same error code. */
const RIGHTS = /^(aclcheck_error|check_enable_rls|CheckMyDatabase|set_config_\w+)$/
/** Codes with which the server refuses a session because of the URL's `options`. */
const REFUSED_OPTIONS = ['42704', '22023', '55P02', '42501', '42601']
/** The driver's message for a missing password, which has no code. */
const NO_PASSWORD = /^SASL: .*client password must be a (non-empty )?string/

interface Refused {
  code?: string
  message?: string
  routine?: string
  severity?: string
}

function refusalOf(error: unknown): string | null {
  const { code = '', message = '', routine = '', severity } = (error ?? {}) as Refused
  switch (code) {
    case '28P01':
      return 'the server refuses the user name or the password'
    case '28000':
      return 'the server does not let this user in from here'
    case '3D000':
      return 'the server has no database of that name'
    case '3F000':
      return NO_SCHEMA
    case 'EACCES':
      return `the system does not let this user connect: ${message}`
  }
  if (code === '42501' && !RIGHTS.test(routine)) return null
  if (severity === 'FATAL' && REFUSED_OPTIONS.includes(code))
    return `the server refuses its options: ${message}`
  if (code === '08P01' && message.endsWith('startup parameter: options')) return NO_OPTIONS
  if (code === '42501')
    return `${message}. The user must own the database, or the first schema of its search_path`
  if (NO_PASSWORD.test(message)) return 'the server asks for a password, and DATABASE_URL has none'
  return tlsRefusalOf(error)
}

const NO_OPTIONS =
  'the connection pooler accepts no options. Leave them out of the URL. To choose a schema, run ' +
  'ALTER ROLE … SET search_path or ALTER DATABASE … SET search_path on the server'

export const NO_SCHEMA =
  'no schema in the search_path exists; create one, or change the search_path'

/** Certificate errors of Node.js that an operator must fix, or trust. */
const CERTIFICATE = [
  'CERT_HAS_EXPIRED',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

function tlsRefusalOf(error: unknown): string | null {
  const { code = '', message = '' } = (error ?? {}) as Refused
  if (message === 'The server does not support SSL connections')
    return 'the server does not support SSL (TLS), which sslmode asks for'
  if (!CERTIFICATE.includes(code)) return null
  // Node.js advises an option of its own behind the semicolon.
  const reason = `the server's certificate is not accepted: ${message.split(';')[0]}`
  return /ISSUER|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
    ? `${reason}. Add sslrootcert=FILE with the certificate of its authority to DATABASE_URL, or sslrootcert=system if this machine trusts it`
    : reason
}
