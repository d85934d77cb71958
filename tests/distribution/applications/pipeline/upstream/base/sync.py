"""Stands for the program that makes the objects of a profile namespace. Nothing runs it here."""

FRONTEND_IMAGE = "registry.example.com/demo/kfp-frontend"
