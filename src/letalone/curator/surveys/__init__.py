"""Surveys: people answer in their own browsers, and only random answers reach the service."""
