import { keepFoldersInMemory } from '../fixtures/folder.ts'
import { agreement } from './agreement.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

keepFoldersInMemory()
agreement('SQLite', openSqliteEngine, 200)
