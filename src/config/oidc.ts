import { readText } from '../model/input.ts'
import { quote } from '../model/text.ts'
import { complaintAboutUrl, isLoopback, isSafe, withoutSecrets } from './public-url.ts'

/** The identity provider whose accounts sign in. */
export interface OidcConfig {
  /** Exactly as the provider writes it: it is a part of each identity. */
  issuer: string
  clientId: string
  /** Empty if no variable has it. Only the service needs it. */
  clientSecret: string
  /** What the dashboard calls the provider. */
  name: string
  signUp: 'open' | 'closed'
  /** Null if no group makes operators. */
  operatorGroup: string | null
  /** Whether the sign-in page leads to the provider by itself. */
  isAutomatic: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings of an identity provider. Null if there is none. */
export function readOidc(given: Environment): { oidc: OidcConfig | null; complaints: string[] } {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = given
  if (issuer === undefined) return { oidc: null, complaints: complaintsWithout(given) }
  const secret = readSecret(given)
  const complaints = [
    ...('complaint' in secret ? [secret.complaint] : []),
    ...complaintsAbout(given),
  ]
  if ('complaint' in secret || clientId === undefined || complaints.length > 0)
    return { oidc: null, complaints }
  return {
    oidc: {
      issuer,
      clientId,
      clientSecret: secret.text,
      name: given.OIDC_NAME ?? hostOf(issuer),
      signUp: given.OIDC_SIGN_UP === 'open' ? 'open' : 'closed',
      operatorGroup: given.OIDC_OPERATOR_GROUP ?? null,
      isAutomatic: given.OIDC_AUTO === '1',
    },
    complaints,
  }
}

/** The setting's own check complains about an issuer that is no URL. */
const hostOf = (issuer: string): string => (URL.canParse(issuer) ? new URL(issuer).host : issuer)

function complaintsWithout(given: Environment): string[] {
  const needing = Object.keys(given).filter((name) => name.startsWith('OIDC_') && given[name])
  return needing.length === 0
    ? []
    : [`OIDC_ISSUER must be set, because ${needing.join(', ')} needs an identity provider`]
}

function complaintsAbout(given: Environment): string[] {
  const { DASHBOARD_URL: dashboardUrl, HOST: host } = given
  const complaints: string[] = []
  if (given.OIDC_CLIENT_ID === undefined)
    complaints.push('OIDC_CLIENT_ID must be set, because OIDC_ISSUER is')
  if (dashboardUrl === undefined ? !isLoopback(host ?? '127.0.0.1') : !isSafe(dashboardUrl))
    complaints.push(
      'DASHBOARD_URL must begin with https:// or be on this machine, because OIDC_ISSUER is set, ' +
        `not ${dashboardUrl === undefined ? 'unset' : quote(withoutSecrets(dashboardUrl))}`,
    )
  return complaints
}

function readSecret(given: Environment): { text: string } | { complaint: string } {
  const { OIDC_CLIENT_SECRET: secret, OIDC_CLIENT_SECRET_FILE: file } = given
  if (secret !== undefined && file !== undefined)
    return {
      complaint: 'OIDC_CLIENT_SECRET and OIDC_CLIENT_SECRET_FILE are both set; unset one of them',
    }
  if (secret !== undefined) return { text: secret }
  if (file === undefined) return { text: '' }
  const name = `the file ${quote(file)} that OIDC_CLIENT_SECRET_FILE names`
  const read = readText(file, name)
  return 'complaint' in read ? read : { text: read.text.trim() }
}

/** An index of PostgreSQL stores the issuer and the subject together. */
const ISSUER_LENGTH_MAX = 255

/** The error of an issuer, in words that follow "must". Null if it is valid. */
export function complaintAboutIssuer(text: string): string | null {
  if (text.length > ISSUER_LENGTH_MAX) return `have at most ${ISSUER_LENGTH_MAX} characters`
  const complaint = complaintAboutUrl(text)
  if (complaint !== null || isSafe(text)) return complaint
  return 'begin with https://, unless it is on this machine'
}
