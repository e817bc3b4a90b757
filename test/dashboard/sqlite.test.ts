import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { dashboardSuite } from './suite.ts'

dashboardSuite('SQLite', sqliteDatabase)
