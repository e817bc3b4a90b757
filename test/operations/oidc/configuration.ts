import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** With a hyphen and underscores, as many names and generated secrets have them. */
export const CLIENT = { id: 'server-listing', secret: 'a_secret-of_the-client_in-base64url' }

/**
 * Writes what LemonLDAP::NG needs into a folder, and returns the path of the file that names the
 * rest. What is not set has the default.
 */
export function writeConfiguration(folder: string, portal: string, redirectUri: string): string {
  const inside = (...names: string[]) => join(folder, ...names)
  for (const name of ['configuration', 'cache', 'sessions']) mkdirSync(inside(name))
  const cache = { cache_root: inside('cache'), cache_depth: 3, default_expires_in: 600 }
  const sessions = { Directory: inside('sessions'), LockDirectory: inside('sessions') }
  const configuration = {
    cfgNum: 1,
    cfgDate: 1,
    portal,
    domain: '127.0.0.1',
    locationRules: { '127.0.0.1': { default: 'accept' } },
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: sessions,
    localSessionStorage: 'Cache::FileCache',
    localSessionStorageOptions: { ...cache, namespace: 'sessions' },
    ...provider(redirectUri),
  }
  writeFileSync(inside('configuration', 'lmConf-1.json'), JSON.stringify(configuration))
  const file = inside('lemonldap-ng.ini')
  writeFileSync(file, localSettings(inside('configuration')))
  return file
}

function provider(redirectUri: string) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const options = {
    oidcRPMetaDataOptionsClientID: CLIENT.id,
    oidcRPMetaDataOptionsClientSecret: CLIENT.secret,
    oidcRPMetaDataOptionsRedirectUris: redirectUri,
    oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
    // Without this, LemonLDAP::NG ignores the verifier.
    oidcRPMetaDataOptionsRequirePKCE: 1,
  }
  return {
    issuerDBOpenIDConnectActivation: 1,
    oidcServicePrivateKeySig: privateKey,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: 'first',
    oidcRPMetaDataOptions: { listing: options },
    // One demonstration user has an address that is not verified.
    oidcRPMetaDataMacros: { listing: { isVerified: '$uid ne "msmith"' } },
    oidcRPMetaDataExportedVars: {
      listing: {
        email: 'mail',
        email_verified: 'isVerified;bool',
        groups: 'groups;string;always',
      },
    },
    // LemonLDAP::NG has no scope for groups.
    oidcRPMetaDataOptionsExtraClaims: { listing: { profile: 'groups' } },
  }
}

function localSettings(folder: string): string {
  return `[all]
logger = Lemonldap::NG::Common::Logger::Std
logLevel = notice
[configuration]
type = File
dirName = ${folder}
[portal]
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
`
}
