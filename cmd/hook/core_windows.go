package main

func noCoreFile() {}
