import { NotConfigured } from '../../src/model/faults.ts'
import { startService } from '../../src/service.ts'

/** A service that knows no database (spec 7.2, 503). */
export function startUnconfigured(): ReturnType<typeof startService> {
  return startService({
    store: null,
    problem: new NotConfigured('DATABASE_URL must be set'),
    host: '127.0.0.1',
    port: 0,
    log: { fault: () => '5f0c1e9a7b3d-1', http() {} },
    dashboard: {
      port: 0,
      baseUrl: 'http://127.0.0.1:8080',
      dashboardUrl: 'http://127.0.0.1:8081',
      signUp: 'closed',
      trustedProxies: [],
    },
  })
}
