extension Duration {
    /// The milliseconds that `poll` may wait for it: rounded up, so that none is asked for its end too early, none when it has passed, and at
    /// most a minute, since who waits looks again then.
    var pollMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 60 else { return 60_000 }
        return Int32(seconds) * 1_000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
