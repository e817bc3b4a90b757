-- oldest compatible program: 1

-- An owner's own events, without the refused sign-ins that a stranger can cause in any number.
CREATE INDEX audit_log_events_of_user ON audit_log (user_id, occurred_at) WHERE action <> 'sign-in refused';
