import type { ClientAuth } from 'openid-client'

/**
 * Shows the provider which client this is. The header has the form of RFC 6749, section 2.3.1.
 * The library's own encodes hyphens and underscores too, which is the same for providers that
 * decode, and a wrong secret for those that don't, such as LemonLDAP::NG 2.16.
 */
export function authenticate(secret: string): ClientAuth {
  return ({ token_endpoint_auth_methods_supported: methods }, { client_id: id }, body, headers) => {
    // Without this list a provider takes the header: OpenID Connect Discovery, section 3.
    if (methods === undefined || methods.includes('client_secret_basic')) {
      const credentials = Buffer.from(`${encode(id)}:${encode(secret)}`)
      headers.set('Authorization', `Basic ${credentials.toString('base64')}`)
    } else {
      body.set('client_id', id)
      body.set('client_secret', secret)
    }
  }
}

/** As in `application/x-www-form-urlencoded`. */
function encode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
