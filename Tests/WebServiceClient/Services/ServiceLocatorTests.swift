import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private protocol Greeter: Sendable {
    var greeting: String { get }
}

private final class English: Greeter {
    let greeting: String
    init(_ greeting: String = "Hello") { self.greeting = greeting }
}

private final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    @discardableResult func add() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

private struct Unmakeable: Error, Equatable {}

private final class First: Sendable { let second: Second; init(_ second: Second) { self.second = second } }
private final class Second: Sendable { let third: Third; init(_ third: Third) { self.third = third } }
private final class Third: Sendable { init(_ first: First?) {} }
private final class Cart: Sendable { let orders: WeakService<Orders>; init(_ orders: WeakService<Orders>) { self.orders = orders } }
private final class Orders: Sendable { let cart: Cart; init(_ cart: Cart) { self.cart = cart } }

/// Uses a locator when it is released.
private final class Leaving: Sendable {
    let locator: ServiceLocator
    let left: Counter
    init(_ locator: ServiceLocator, _ left: Counter) { (self.locator, self.left) = (locator, left) }
    deinit {
        left.add()
        _ = locator.names
        _ = try? locator.resolve(English.self)
    }
}

/// Returns the locator's error that a body throws.
private func fault(_ body: () throws -> Void) -> ServiceLocatorError? {
    do {
        try body()
        return nil
    } catch {
        return error as? ServiceLocatorError
    }
}

@Suite struct ServiceLocatorTests {
    // MARK: Registering and resolving

    @Test func `a value is resolved by its protocol, its type, or the context`() throws {
        let locator = ServiceLocator()
        try locator.register((any Greeter).self, English())
        try locator.register(Int.self, 7)
        let greeter: any Greeter = try locator.resolve()
        #expect(greeter.greeting == "Hello")
        #expect(try locator.resolve(Int.self) == 7)
        #expect(locator.names == ["Greeter", "Int"] && "\(locator)" == "ServiceLocator(Greeter, Int)")
        #expect(fault { _ = try locator.resolve(English.self) }?.kind == .missing)
    }

    @Test func `a missing service is an error with the nearest name`() throws {
        let locator = ServiceLocator()
        let empty = fault { _ = try locator.resolve(First.self) }
        #expect(empty?.kind == .missing && empty?.service == "First" && empty?.description.contains("is empty") == true)
        try locator.register(Orders.self) { _ in throw Unmakeable() }
        let near = fault { _ = try ServiceLocator(parent: locator).resolve(Ordes.self) }
        #expect(near?.description.contains("no service Ordes: the nearest registered name is Orders") == true, "\(near as Any)")
        let far = fault { _ = try locator.resolve(Counter.self) }
        #expect(far?.description.contains("it has Orders") == true)
        #expect(far?.localizedDescription == far?.description)
    }

    @Test func `a second registration is an error unless it replaces the first`() throws {
        let locator = ServiceLocator()
        try locator.register(Int.self, 1)
        #expect(fault { try locator.register(Int.self, 2) }?.kind == .duplicate)
        #expect(fault { try locator.register(Int.self) { _ in 3 } }?.kind == .duplicate)
        #expect(fault { try locator.register(Int.self, lifetime: .scope) { _ in 3 } }?.kind == .duplicate)
        #expect(try locator.resolve(Int.self) == 1)
        try locator.register(Int.self, 2, replacing: true)
        #expect(try locator.resolve(Int.self) == 2)
        try locator.register(Int.self, lifetime: .scope, replacing: true) { _ in 4 }
        #expect(try locator.resolve(Int.self) == 4)
        #expect(fault { try locator.register(Int.self, 5) }?.kind == .duplicate)
        #expect(locator.unregister(Int.self) && !locator.unregister(Int.self))
        #expect(fault { _ = try locator.resolve(Int.self) }?.kind == .missing)
        try locator.register(Int.self, 6)
        #expect(try locator.resolve(Int.self) == 6)
    }

    @Test func `a lazy service is created once, an error isn't kept`() throws {
        let locator = ServiceLocator()
        let made = Counter()
        try locator.register(English.self) { _ in
            guard made.add() > 1 else { throw Unmakeable() }
            return English("\(made.value)")
        }
        #expect(made.value == 0 && locator.existing(English.self) == nil)
        #expect(throws: Unmakeable()) { try locator.resolve(English.self) }
        let english = try locator.resolve(English.self)
        #expect(english.greeting == "2" && made.value == 2)
        #expect(try locator.resolve(English.self) === english && locator.existing(English.self) === english)
    }

    @Test func `a lazy service resolves others, from the locator that has its entry`() throws {
        let parent = ServiceLocator()
        try parent.register(String.self, "parent")
        try parent.register(English.self) { English(try $0.resolve()) }
        let child = parent.scope()
        try child.register(String.self, "child")
        #expect(try child.resolve(English.self).greeting == "parent")
        #expect(try child.resolve(String.self) == "child" && child.parent === parent)
    }

    @Test func `children come before their parents`() throws {
        let parent = ServiceLocator()
        try parent.register(Int.self, 1)
        let child = ServiceLocator(parent: parent)
        let grandchild = child.scope()
        #expect(try grandchild.resolve(Int.self) == 1)
        try child.register(Int.self, 2)
        #expect(try grandchild.resolve(Int.self) == 2)
        #expect(try parent.resolve(Int.self) == 1)
        child.unregister(Int.self)
        #expect(try grandchild.resolve(Int.self) == 1)
    }

    @Test func `each scope has its own service, made with its own others`() throws {
        let root = ServiceLocator()
        try root.register(String.self, "root")
        try root.register(English.self, lifetime: .scope) { English(try $0.resolve()) }
        let (one, two) = (root.scope(), root.scope())
        try one.register(String.self, "one")
        let first = try one.resolve(English.self)
        #expect(first.greeting == "one")
        #expect(try one.resolve(English.self) === first)
        let second = try two.resolve(English.self)
        #expect(second.greeting == "root" && second !== first)
        #expect(try root.resolve(English.self) !== second && root.resolve(English.self) === root.resolve(English.self))
        // A scope in a scope has its own too, whether the outer one has created its own or not.
        #expect(try one.scope().resolve(English.self) !== first)
        #expect(try root.scope().scope().resolve(English.self) !== first)
        #expect(one.unregister(English.self))
        #expect(try one.resolve(English.self) !== first)
    }

    // MARK: Weak entries

    @Test func `a weak entry ends with its object and asks the parent then`() throws {
        let parent = ServiceLocator()
        let child = parent.scope()
        var english: English? = English("weak")
        try child.register((any Greeter).self, weak: try #require(english))
        #expect(try child.resolve((any Greeter).self).greeting == "weak")
        #expect(fault { try child.register((any Greeter).self, English()) }?.kind == .duplicate)
        english = nil
        #expect(fault { _ = try child.resolve((any Greeter).self) }?.kind == .missing)
        #expect(child.names.isEmpty)
        try parent.register((any Greeter).self, English("parent"))
        #expect(try child.resolve((any Greeter).self).greeting == "parent")
        try child.register((any Greeter).self, English("again"))
        #expect(try child.resolve((any Greeter).self).greeting == "again")
    }

    @Test func `an object must have the type of its weak entry`() throws {
        let locator = ServiceLocator()
        let fault = fault { try locator.register((any Greeter).self, weak: Counter()) }
        #expect(fault?.kind == .otherType && fault?.description.contains("Counter isn't a Greeter") == true, "\(fault as Any)")
    }

    @Test func `a weak service finds what is registered and keeps nothing`() throws {
        var locator: ServiceLocator? = ServiceLocator()
        let weak = try #require(locator).weak(English.self)
        #expect(weak.value == nil)
        #expect(fault { _ = try weak.resolve() }?.kind == .missing)
        try locator?.register(English.self) { _ in English("lazy") }
        #expect(weak.value == nil, "it creates nothing")
        #expect(try weak.resolve().greeting == "lazy" && weak.value?.greeting == "lazy")
        try locator?.register(English.self, English("other"), replacing: true)
        #expect(weak.value?.greeting == "other")
        locator = nil
        #expect(weak.value == nil)
        #expect(fault { _ = try weak.resolve() }?.kind == .released)
    }

    @Test func `services are released outside the lock`() throws {
        let (locator, left) = (ServiceLocator(), Counter())
        try locator.register(Leaving.self, Leaving(locator, left))
        try locator.register(Leaving.self, Leaving(locator, left), replacing: true)
        #expect(left.value == 1)
        locator.unregister(Leaving.self)
        #expect(left.value == 2)
    }

    // MARK: Cycles

    @Test func `a cycle is an error that names its path`() throws {
        let locator = ServiceLocator()
        try locator.register(First.self) { First(try $0.resolve()) }
        try locator.register(Second.self) { Second(try $0.resolve()) }
        try locator.register(Third.self) { Third(try $0.resolve() as First) }
        let fault = fault { _ = try locator.resolve(Second.self) }
        #expect(fault?.kind == .cycle && fault?.path == ["Second", "Third", "First", "Second"])
        #expect(fault?.description.contains("Second → Third → First → Second") == true)
        // A service that needs one of the cycle isn't a part of it.
        try locator.register(Int.self) {
            _ = try $0.resolve(First.self); return 1
        }
        #expect(self.cycle(of: Int.self, locator) == ["First", "Second", "Third", "First"])
        try locator.register(Third.self, Third(nil), replacing: true)
        #expect(try locator.resolve(Int.self) == 1)
    }

    private func cycle<Service: Sendable>(of type: Service.Type, _ locator: ServiceLocator) -> [String]? {
        fault { _ = try locator.resolve(type) }?.path
    }

    @Test func `a weak service breaks a cycle`() throws {
        let locator = ServiceLocator()
        try locator.register(Cart.self) { Cart($0.weak()) }
        try locator.register(Orders.self) { Orders(try $0.resolve()) }
        let orders = try locator.resolve(Orders.self)
        #expect(try orders.cart.orders.resolve() === orders)
    }

    @Test func `two threads that create services which need each other both get an error`() async throws {
        for _ in 0..<Sweep.rounds(ofAll: 200) {
            let (one, two) = (ServiceLocator(), ServiceLocator())
            // Each waits until the other has begun, or until the other has failed.
            let begun = Counter()
            @Sendable func meet() {
                begun.add()
                let end = MonotonicInstant.now.advanced(by: .milliseconds(2))
                while begun.value < 2, MonotonicInstant.now < end {}
            }
            try one.register(First.self) { _ in
                meet()
                return First(try two.resolve())
            }
            try two.register(Second.self) { _ in
                meet()
                _ = try one.resolve(First.self)
                return Second(Third(nil))
            }
            let paths = try await watched { [one, two] in
                async let left = onOwnThread { fault { _ = try one.resolve(First.self) }?.path }
                async let right = onOwnThread { fault { _ = try two.resolve(Second.self) }?.path }
                return try await [left, right]
            }
            for path in paths {
                #expect(path == ["First", "Second", "First"] || path == ["Second", "First", "Second"], "\(path as Any)")
            }
        }
    }

    // MARK: Many threads

    @Test func `many threads resolve lazy and weak entries`() async throws {
        let rounds = Sweep.isFull ? 100_000 : 5_000
        let locator = ServiceLocator()
        let (made, scoped, others) = (Counter(), Counter(), Counter())
        try locator.register(English.self) { _ in
            made.add()
            return English()
        }
        try locator.register((any Greeter).self) { try $0.resolve(English.self) }
        try locator.register(Cart.self, lifetime: .scope) {
            scoped.add()
            return Cart($0.weak())
        }
        let scopes = (0..<4).map { _ in locator.scope() }
        let kept = Third(nil)
        try locator.register(Third.self, weak: kept)
        try await watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<8 {
                    group.addTask {
                        try await onOwnThread {
                            let scope = scopes[thread % scopes.count]
                            let weak = scope.weak(Second.self)
                            for round in 0..<rounds {
                                guard try scope.resolve((any Greeter).self) as? English === scope.resolve(English.self),
                                    try scope.resolve(Third.self) === kept, try scope.resolve(Cart.self) === scope.resolve(Cart.self)
                                else { throw Unmakeable() }
                                if round % 64 == thread {
                                    // Objects come and go while others resolve them.
                                    let second = Second(kept)
                                    try locator.register(Second.self, weak: second, replacing: true)
                                    if (try? scope.resolve(Second.self)) === second { others.add() }
                                    try locator.register(Int.self, replacing: true) { _ in round }
                                    _ = try locator.resolve(Int.self)
                                } else {
                                    _ = weak.value
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(made.value == 1 && scoped.value == scopes.count && others.value > 0)
        #expect(locator.existing(Second.self) == nil)
    }

    @Test func `threads that wait for a service get its error too, and the next one tries again`() async throws {
        let locator = ServiceLocator()
        let (gate, tries) = (DispatchSemaphore(value: 0), Counter())
        try locator.register(Int.self) { _ in
            guard tries.add() == 1 else { return 2 }
            gate.wait()
            throw Unmakeable()
        }
        let failures = try await watched {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await onOwnThread { (try? locator.resolve(Int.self)) == nil } }
                }
                // Late threads may come after the error, and create the service.
                gate.signal()
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
        }
        #expect(failures >= 1 && tries.value <= 2)
        #expect(try locator.resolve(Int.self) == 2)
    }
}

private struct Ordes: Sendable {}
