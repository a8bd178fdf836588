import CSystemLibraries

/// Which text is in some pooled memory: a number that changes whenever decoders and containers of an earlier text must read no more.
///
/// One that was kept beyond its call looks here, while another call may be using the memory. So the number lies by itself in memory that
/// is never freed, it is read and written atomically, and it is all that such a one ever looks at.
struct JSONGeneration {
    private let number: UnsafeMutablePointer<UInt32>

    init() {
        number = .allocate(capacity: 1)
        number.initialize(to: 0)
    }

    @inline(__always) var current: UInt32 { csl_shared_number(number) }

    /// Whether so many generations have passed that some number might come again: memory with such a one is used no more.
    var isOld: Bool { current > .max / 2 }

    /// Ends the present generation. Only whoever uses the memory calls this, so nobody else writes at the same time.
    func advance() { csl_set_shared_number(number, current &+ 1) }
}
