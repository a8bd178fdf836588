/// Work of others for the loop's thread.
protocol CurlLoopJob: Sendable {
    /// Does it, on the loop's thread.
    func run()
    /// Has it done on another thread: there is none of the loop's.
    func runElsewhere()
}
