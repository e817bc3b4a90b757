import { randomBytes } from 'node:crypto'
import type { Config } from './config.ts'
import type { Accounts } from './listing/accounts.ts'
import type { OpenedStore } from './open-store.ts'

/** Opens sign-in on an opened store. The library behind it is large, so this is done when somebody comes to sign in. */
export async function openAccounts(
  store: Pick<OpenedStore, 'accountsDialect' | 'keepSecret'>,
  { database, authSecret, dashboardUrl }: Pick<Config, 'database' | 'authSecret' | 'dashboardUrl'>,
): Promise<Accounts> {
  const { createAccounts } = await import('./accounts/accounts.ts')
  return createAccounts({
    dialect: await store.accountsDialect(),
    engine: database.engine === 'postgres' ? 'postgres' : 'sqlite',
    secret: authSecret ?? (await store.keepSecret('cookies', randomBytes(32).toString('hex'))),
    dashboardUrl,
  })
}
