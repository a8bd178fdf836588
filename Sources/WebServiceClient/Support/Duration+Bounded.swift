extension Duration {
    /// The duration, but no longer than a hundred years: what is longer means "for ever", and the clocks' sleep traps on it.
    package var bounded: Duration { min(self, .seconds(100 * 366 * 86_400)) }
}
