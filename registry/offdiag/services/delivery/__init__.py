"""Delivery of report editions: independent of computing them, retried automatically, and never to
any place but the configured one."""
