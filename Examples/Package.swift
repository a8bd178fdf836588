// swift-tools-version: 6.1

import PackageDescription

// A separate package, as a program that uses the library is: nobody who depends on the library builds it.
let package = Package(
    name: "web-service-client-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "web-service-client", path: "..")],
    targets: [
        .executableTarget(
            name: "Examples",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            path: "Sources",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
