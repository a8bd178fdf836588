import Foundation

/// Creates a service once.
///
/// The first thread that needs the service creates it, and the others wait. A graph of all services that are being created, and of the
/// threads that wait for them, detects a cycle before a thread would wait for itself, across all locators and threads.
final class ServiceMaker: Sendable {
    /// The name of the service, for messages.
    let name: String
    private let make: @Sendable (ServiceLocator) throws -> ServiceBox
    /// The service, once it exists. A thread that got the maker before the locator kept the service may call it later.
    private let made = Locked<ServiceBox?>(nil)

    init(_ name: String, _ make: @escaping @Sendable (ServiceLocator) throws -> ServiceBox) {
        self.name = name
        self.make = make
    }

    /// Returns a maker that creates another service with the same closure.
    func copy() -> ServiceMaker { ServiceMaker(name, make) }

    /// Returns the service. The first call creates it and stores it in the locator.
    ///
    /// - Throws: ``ServiceLocatorError`` of the kind `cycle`, or the error of the closure.
    func service(for locator: ServiceLocator, _ key: ObjectIdentifier) throws -> ServiceBox {
        switch Self.graph.withLock({ $0.enter(self, made, ServiceThread.current) }) {
        case .made(let box): return box
        case .cycle(let path): throw ServiceLocatorError.cycle(path)
        case .wait(let waiter): return try waiter.wait()
        case .make:
            let result = Result { try make(locator) }
            if case .success(let box) = result { locator.keep(box, from: self, for: key) }
            let waiters = Self.graph.withLock { graph in
                if case .success(let box) = result { made.withLock { $0 = box } }
                return graph.leave(self, ServiceThread.current)
            }
            for waiter in waiters { waiter.end(result) }
            return try result.get()
        }
    }

    private static let graph = Locked(ServiceGraph())
}

/// Identifies the current thread. A service is created on one thread from beginning to end.
private enum ServiceThread {
    static var current: ObjectIdentifier { ObjectIdentifier(Thread.current) }
}

/// A thread that waits for a service that another thread creates.
private final class ServiceWaiter: Sendable {
    let thread: ObjectIdentifier
    private let semaphore = DispatchSemaphore(value: 0)
    private let result = Locked<Result<ServiceBox, any Error>?>(nil)

    init(_ thread: ObjectIdentifier) {
        self.thread = thread
    }

    func end(_ result: Result<ServiceBox, any Error>) {
        self.result.withLock { $0 = result }
        semaphore.signal()
    }

    func wait() throws -> ServiceBox {
        semaphore.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}

/// The services of all locators that are being created, and the threads that create and await them.
private struct ServiceGraph {
    /// The next step of a thread that needs a service.
    enum Step {
        case made(ServiceBox)
        case make
        case wait(ServiceWaiter)
        case cycle([String])
    }

    /// The services that each thread is creating; each one needs the next.
    private var stacks: [ObjectIdentifier: [ServiceMaker]] = [:]
    /// The creating thread of each maker.
    private var creators: [ObjectIdentifier: ObjectIdentifier] = [:]
    /// The maker that each thread waits for.
    private var awaited: [ObjectIdentifier: ServiceMaker] = [:]
    private var waiters: [ObjectIdentifier: [ServiceWaiter]] = [:]

    mutating func enter(_ maker: ServiceMaker, _ made: Locked<ServiceBox?>, _ thread: ObjectIdentifier) -> Step {
        if let box = made.withLock({ $0 }) { return .made(box) }
        guard creators[ObjectIdentifier(maker)] != nil else {
            creators[ObjectIdentifier(maker)] = thread
            stacks[thread, default: []].append(maker)
            return .make
        }
        if let path = cycle(through: maker, thread) { return .cycle(path) }
        let waiter = ServiceWaiter(thread)
        awaited[thread] = maker
        waiters[ObjectIdentifier(maker), default: []].append(waiter)
        return .wait(waiter)
    }

    /// Ends a creation.
    ///
    /// - Returns: The threads that wait for it.
    mutating func leave(_ maker: ServiceMaker, _ thread: ObjectIdentifier) -> [ServiceWaiter] {
        creators[ObjectIdentifier(maker)] = nil
        stacks[thread]?.removeLast()
        if stacks[thread]?.isEmpty == true { stacks[thread] = nil }
        let ended = waiters.removeValue(forKey: ObjectIdentifier(maker)) ?? []
        for waiter in ended { awaited[waiter.thread] = nil }
        return ended
    }

    /// The names along the cycle that waiting for `first` would close; `nil` if it would close none.
    private func cycle(through first: ServiceMaker, _ thread: ObjectIdentifier) -> [String]? {
        var path: [String] = []
        var maker = first
        // A thread waits for at most one service, so the chain can't branch, and ends at this thread at the latest.
        while let creator = creators[ObjectIdentifier(maker)], let stack = stacks[creator] {
            path += stack.drop { $0 !== maker }.map(\.name)
            if creator == thread { return path + [first.name] }
            guard let next = awaited[creator] else { return nil }
            maker = next
        }
        return nil
    }
}
