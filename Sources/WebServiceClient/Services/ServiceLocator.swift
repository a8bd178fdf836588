/// Finds a program's services by their types or protocols.
///
///     let locator = ServiceLocator()
///     try locator.register((any Weather).self) { locator in OpenWeather(log: try locator.resolve()) }
///     try locator.register((any Log).self, FileLog())
///     let weather: any Weather = try locator.resolve()
///
/// | registration | the locator keeps | the service is created |
/// |---|---|---|
/// | a value | the value | by the program |
/// | a closure | the service, once it exists | by the first call that resolves it, once |
/// | a closure with `.scope` | nothing; each scope keeps its own | by the first call in each scope |
/// | `weak:` an object | nothing: the entry is empty when the object is released | by the program |
///
/// * A locator without an entry asks its parent. An entry whose object was released counts as missing.
/// * A service that isn't registered is a ``ServiceLocatorError`` in all builds, with the nearest registered name.
/// * A cyclic dependency is an error that names the services of the cycle in order, even if several threads create them. To let services
///   refer to each other, give one of them a ``WeakService``.
/// * Any thread may use a locator. Resolving takes one lock for each locator that is asked. While a service is created, other threads that
///   resolve it wait for it, so a closure must not wait for a task or another thread that resolves services.
public final class ServiceLocator: Sendable {
    /// How long a created service is kept.
    public enum Lifetime: String, Sendable, Hashable, CaseIterable {
        /// As long as its entry: all callers of this locator and its children share it.
        case locator
        /// As long as the locator that was asked for it: each child locator creates its own. The service resolves its dependencies there
        /// too.
        case scope
    }

    private struct State {
        var entries: [ObjectIdentifier: ServiceEntry] = [:]
        /// The services that each scope creates for itself.
        var templates: [ObjectIdentifier: ServiceMaker] = [:]
    }

    /// The result of looking up a type.
    private enum Found {
        case entry(ServiceEntry.Content)
        case template(ServiceMaker)
    }

    /// The locator that is asked for services that this one doesn't have.
    public let parent: ServiceLocator?
    private let state = Locked(State())

    /// Creates an empty locator.
    ///
    /// - Parameter parent: The locator that is asked for services that this one doesn't have. It is retained.
    public init(parent: ServiceLocator? = nil) {
        self.parent = parent
    }

    /// Returns a new locator whose parent is this one: for a window, a request or a user's session, whose services end with it.
    public func scope() -> ServiceLocator { ServiceLocator(parent: self) }

    // MARK: Registering

    /// Registers a service that exists.
    ///
    /// - Parameters:
    ///   - type: The type or protocol that the service is resolved by.
    ///   - service: The service. The locator retains it.
    ///   - replacing: Whether the service may replace another one in this locator. Callers that have resolved that one keep it.
    /// - Throws: ``ServiceLocatorError`` of the kind `duplicate` if the locator has an entry of the type.
    public func register<Service: Sendable>(
        _ type: Service.Type = Service.self, _ service: Service, replacing: Bool = false
    ) throws(ServiceLocatorError) {
        try add(ServiceEntry(type, .kept(TypedServiceBox(service))), replacing)
    }

    /// Registers a service that is created when it is first resolved.
    ///
    /// The closure runs once, even if several threads resolve the service at the same time. If it throws, all calls that wait for it throw
    /// that error, and the next call runs it again.
    ///
    /// - Parameters:
    ///   - type: The type or protocol that the service is resolved by.
    ///   - lifetime: How long the service is kept.
    ///   - replacing: Whether the entry may replace another one in this locator.
    ///   - make: Creates the service. The argument is the locator with the entry; for the lifetime `scope`, the locator that was asked.
    /// - Throws: ``ServiceLocatorError`` of the kind `duplicate` if the locator has an entry of the type.
    public func register<Service: Sendable>(
        _ type: Service.Type = Service.self, lifetime: Lifetime = .locator, replacing: Bool = false,
        _ make: @escaping @Sendable (ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) {
        let maker = ServiceMaker(ServiceEntry.name(of: type)) { TypedServiceBox(try make($0)) }
        try add(ServiceEntry(type, .unmade(maker)), isTemplate: lifetime == .scope, replacing)
    }

    /// Registers a client that is created when it is first resolved, and follows environments.
    ///
    ///     try locator.register(Shop.self, in: environments) { Shop() }
    ///
    /// - Parameters:
    ///   - type: The client's class, or a protocol that it conforms to.
    ///   - environments: The environments that the client follows.
    ///   - replacing: Whether the entry may replace another one in this locator.
    ///   - make: Creates the client.
    /// - Throws: ``ServiceLocatorError`` of the kind `duplicate` if the locator has an entry of the type. Resolving throws the kind
    ///   `otherType` if the client doesn't have the type.
    public func register<Service: Sendable>(
        _ type: Service.Type, in environments: ServiceEnvironments, replacing: Bool = false,
        _ make: @escaping @Sendable () throws -> some WebServiceClient
    ) throws(ServiceLocatorError) {
        try register(type, replacing: replacing) { _ in
            let client = try make()
            guard let service = client as? Service else {
                throw ServiceLocatorError.otherType(ServiceEntry.name(of: type), object: "\(Swift.type(of: client))")
            }
            client.follow(environments)
            return service
        }
    }

    /// Registers an object that the locator doesn't retain. When the object is released, the entry is empty.
    ///
    /// - Parameters:
    ///   - type: The type or protocol that the object is resolved by.
    ///   - object: The object, which must have that type.
    ///   - replacing: Whether the object may replace another entry in this locator. It always replaces an empty one.
    /// - Throws: ``ServiceLocatorError`` of the kind `duplicate` if the locator has an entry of the type, `otherType` if the object doesn't
    ///   have the type.
    public func register<Service: Sendable>(
        _ type: Service.Type, weak object: some AnyObject & Sendable, replacing: Bool = false
    ) throws(ServiceLocatorError) {
        guard object is Service else { throw .otherType(ServiceEntry.name(of: type), object: "\(Swift.type(of: object))") }
        try add(ServiceEntry(type, .unkept(WeakObject(object))), replacing)
    }

    /// Removes the entry of a type from this locator, not from its parents. Callers that have resolved the service keep it.
    ///
    /// - Returns: Whether there was an entry.
    @discardableResult
    public func unregister<Service>(_ type: Service.Type) -> Bool {
        let key = ObjectIdentifier(Service.self)
        // The entry is released after the lock, because a service's deinitializer may use the locator.
        let (entry, template) = state.withLock { ($0.entries.removeValue(forKey: key), $0.templates.removeValue(forKey: key)) }
        return entry != nil || template != nil
    }

    private func add(_ entry: ServiceEntry, isTemplate: Bool = false, _ replacing: Bool) throws(ServiceLocatorError) {
        // The replaced entry and the loaded weak object are released after the lock.
        let (isAdded, _, _) = state.withLock { state -> (Bool, ServiceEntry?, ServiceEntry.Content?) in
            let old = state.entries[entry.key]
            let content = old?.content
            guard replacing || content == nil && state.templates[entry.key] == nil else { return (false, old, content) }
            if isTemplate, case .unmade(let maker) = entry.holding {
                state.templates[entry.key] = maker
                state.entries[entry.key] = nil
            } else {
                state.templates[entry.key] = nil
                state.entries[entry.key] = entry
            }
            return (true, old, content)
        }
        if !isAdded { throw .duplicate(entry.name) }
    }

    // MARK: Resolving

    /// Returns a service: from this locator, or else from its parents.
    ///
    /// - Throws: ``ServiceLocatorError``, or the error of the closure that creates the service.
    public func resolve<Service: Sendable>(_ type: Service.Type = Service.self) throws -> Service {
        let key = ObjectIdentifier(Service.self)
        var locator = self
        while true {
            switch locator.find(key, for: self) {
            case .entry(.made(let box))?:
                if let service: Service = box.service() { return service }
            case .entry(.object(let object))?:
                if let service = object as? Service { return service }
            case .entry(.unmade(let maker))?:
                if let service: Service = try maker.service(for: locator, key).service() { return service }
            case .template(let maker)?:
                adopt(maker, key, of: type)
                locator = self
                continue
            case nil: break
            }
            guard let parent = locator.parent else { throw ServiceLocatorError.missing(ServiceEntry.name(of: type), names: names) }
            locator = parent
        }
    }

    /// Returns a service if it exists: one that was registered as a value, that a closure has created, or whose object is alive. It doesn't
    /// create the service. The parents are asked too.
    public func existing<Service: Sendable>(_ type: Service.Type = Service.self) -> Service? {
        let key = ObjectIdentifier(Service.self)
        var locator = self
        while true {
            switch locator.find(key, for: self) {
            case .entry(.made(let box))?: return box.service()
            case .entry(.object(let object))?: return object as? Service
            // Resolving wouldn't ask the parents either.
            case .entry(.unmade)?, .template?: return nil
            case nil: break
            }
            guard let parent = locator.parent else { return nil }
            locator = parent
        }
    }

    /// Returns a reference to a service that keeps neither the service nor the locator alive.
    public func weak<Service: Sendable>(_ type: Service.Type = Service.self) -> WeakService<Service> { WeakService(self) }

    /// The names of the services that this locator and its parents can resolve, sorted.
    public var names: [String] {
        var names: Set<String> = []
        var next: ServiceLocator? = self
        while let locator = next {
            let (entries, templates) = locator.state.withLock { (Array($0.entries.values), Array($0.templates.values)) }
            for entry in entries where entry.content != nil && (!entry.isOfScope || locator === self) { names.insert(entry.name) }
            for template in templates { names.insert(template.name) }
            next = locator.parent
        }
        return names.sorted()
    }

    /// Looks up a type in this locator; `nil` without an entry, or if its object was released.
    ///
    /// - Parameter asked: The locator that was asked. Entries of a scope are visible only to the scope itself.
    private func find(_ key: ObjectIdentifier, for asked: ServiceLocator) -> Found? {
        state.withLock { state in
            if let entry = state.entries[key], !entry.isOfScope || asked === self, let content = entry.content { return .entry(content) }
            return state.templates[key].map { .template($0) }
        }
    }

    /// Gives this locator its own entry of a service that each scope creates.
    private func adopt<Service>(_ template: ServiceMaker, _ key: ObjectIdentifier, of type: Service.Type) {
        // Each scope has its own maker, because the services of two scopes are created independently.
        let entry = ServiceEntry(type, .unmade(template.copy()), isOfScope: true)
        let (_, _) = state.withLock { state -> (ServiceEntry?, ServiceEntry.Content?) in
            let old = state.entries[key]
            let content = old?.content
            if content == nil { state.entries[key] = entry }
            return (old, content)
        }
    }

    /// Keeps a service that was created, unless its entry was replaced in the meantime.
    func keep(_ box: ServiceBox, from maker: ServiceMaker, for key: ObjectIdentifier) {
        // The maker, whose closure may own objects, is released after the lock.
        let _: ServiceEntry? = state.withLock { state in
            guard let entry = state.entries[key], case .unmade(let current) = entry.holding, current === maker else { return nil }
            state.entries[key]?.holding = .kept(box)
            return entry
        }
    }
}

extension ServiceLocator: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the services.
    public var description: String { "ServiceLocator(\(names.joined(separator: ", ")))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The names of the services, not the services, which may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: ["names": names]) }
}
