import { agreement } from './agreement.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

agreement('SQLite', openSqliteEngine, 200)
