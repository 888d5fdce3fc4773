-- Make the record of a run; doing it again changes nothing.
-- KEYS: 1 run
-- ARGV: 1 state, 2 now ms, 3 name of the fact that starts it, 4 the fact, 5 time to live ms
redis.call('HSETNX', KEYS[1], 'state', ARGV[1])
redis.call('HSETNX', KEYS[1], 'created', ARGV[2])
redis.call('HSETNX', KEYS[1], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
