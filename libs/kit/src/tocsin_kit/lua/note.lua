-- After facts.lua.
-- Keep facts in the record of a run that no handler commits; the run stays as it is.
-- KEYS: 1 run
-- ARGV: 1 time to live ms, then facts: name, time in ms and id, event
for i = 2, #ARGV, 3 do keep(KEYS[1], ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
